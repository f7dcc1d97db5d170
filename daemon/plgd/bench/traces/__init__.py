"""The same edits in real time: the model computes every pass, the choices are the edit's."""
