"""Conversations for the protocol's page; the tests hold each of them with a daemon.

`-->` is the client, `<--` the daemon, `#` what happens beside them. An answer may leave fields out.
"""

from __future__ import annotations

from typing import Final

from plgd.version import __version__

__all__ = ("CONVERSATIONS",)

_HELLO: Final = f"""\
--> {{"jsonrpc":"2.0","id":1,"method":"hello","params":{{"protocol":1,"version":"{__version__}","client":"example"}}}}
<-- {{"jsonrpc":"2.0","id":1,"result":{{"protocol":1,"version":"{__version__}"}}}}
"""

_EDIT: Final = r"""
# /home/me/shop.py holds "total = 0\nprint(total)\n"
# the model's reply is "subtotal = 0\nprint(subtotal)\n"
--> {"jsonrpc":"2.0","id":2,"method":"edit","params":{"path":"/home/me/shop.py","instruction":"rename total to subtotal"}}
<-- {"jsonrpc":"2.0","method":"edit/progress","params":{"id":2,"stage":"queued"}}
<-- {"jsonrpc":"2.0","method":"edit/progress","params":{"id":2,"stage":"decode"}}
<-- {"jsonrpc":"2.0","id":2,"result":{"session":"3f2a9c51d07be846","status":"proposed","path":"/home/me/shop.py","version":1,"new_text":"subtotal = 0\nprint(subtotal)\n","diff":"--- a/shop.py\n+++ b/shop.py\n@@ -1,2 +1,2 @@\n-total = 0\n-print(total)\n+subtotal = 0\n+print(subtotal)\n","hunks":[{"id":0,"old_start":1,"old_lines":2,"new_start":1,"new_lines":2}],"warnings":[]}}
"""

_REVIEW: Final = r"""
# /home/me/list.txt holds "one\ntwo\nthree\n"
# the model's reply is "ONE\ntwo\nTHREE\n"
--> {"jsonrpc":"2.0","id":2,"method":"edit","params":{"path":"/home/me/list.txt","instruction":"shout the odd lines"}}
<-- {"jsonrpc":"2.0","id":2,"result":{"session":"3f2a9c51d07be846","status":"proposed","hunks":[{"id":0,"old_start":1,"old_lines":1,"new_start":1,"new_lines":1},{"id":1,"old_start":3,"old_lines":1,"new_start":3,"new_lines":1}]}}
--> {"jsonrpc":"2.0","id":3,"method":"edit/accept","params":{"session":"3f2a9c51d07be846","hunks":[1]}}
<-- {"jsonrpc":"2.0","id":3,"result":{"status":"applied","new_text":"one\ntwo\nTHREE\n","diff":"--- a/list.txt\n+++ b/list.txt\n@@ -1,3 +1,3 @@\n one\n two\n-three\n+THREE\n"}}
# somebody saves /home/me/list.txt as "uno\ntwo\nTHREE\n"
--> {"jsonrpc":"2.0","id":4,"method":"edit/accept","params":{"session":"3f2a9c51d07be846"}}
<-- {"jsonrpc":"2.0","id":4,"result":{"status":"conflict","conflict":{"first":1,"last":1,"file_first":1,"base":"one\n","file":"uno\n","edit":"ONE\n"}}}
--> {"jsonrpc":"2.0","id":5,"method":"edit/reject","params":{"session":"3f2a9c51d07be846"}}
<-- {"jsonrpc":"2.0","id":5,"result":{"status":"applied","hunks":[{"id":0,"state":"rejected"},{"id":1,"state":"accepted"}],"file":"other"}}
"""

_APPLY: Final = r"""
# /home/me/shop.py holds "total = 0\n"
# the model's reply is "total = 1\n"
--> {"jsonrpc":"2.0","id":2,"method":"edit","params":{"path":"/home/me/shop.py","instruction":"start at 1","mode":"apply","dry_run":true}}
<-- {"jsonrpc":"2.0","id":2,"result":{"status":"proposed","new_text":"total = 1\n"}}
--> {"jsonrpc":"2.0","id":3,"method":"edit","params":{"path":"/home/me/shop.py","instruction":"start at 1","mode":"apply","idempotency_key":"task 7"}}
<-- {"jsonrpc":"2.0","id":3,"result":{"session":"9e107d9d372bb682","status":"applied","new_text":"total = 1\n"}}
--> {"jsonrpc":"2.0","id":4,"method":"edit","params":{"path":"/home/me/shop.py","instruction":"start at 1","mode":"apply","idempotency_key":"task 7"}}
<-- {"jsonrpc":"2.0","id":4,"result":{"session":"9e107d9d372bb682","status":"applied","new_text":"total = 1\n"}}
--> {"jsonrpc":"2.0","id":5,"method":"edit","params":{"path":"/home/me/shop.py","instruction":"start at 2","mode":"apply","idempotency_key":"task 7"}}
<-- {"jsonrpc":"2.0","id":5,"error":{"code":-32025,"message":"The idempotency key 'task 7' belongs to another request of the last hour; choose another key."}}
--> {"jsonrpc":"2.0","id":6,"method":"edit/status","params":{"session":"9e107d9d372bb682"}}
<-- {"jsonrpc":"2.0","id":6,"result":{"status":"applied","file":"accepted"}}
"""

_OPEN: Final = r"""
# the model's reply is "x = 20\n"
--> {"jsonrpc":"2.0","id":2,"method":"document/open","params":{"uri":"untitled:1","text":"x = 1\n","version":1}}
<-- {"jsonrpc":"2.0","id":2,"result":{"uri":"untitled:1","path":"","version":1}}
--> {"jsonrpc":"2.0","id":3,"method":"document/change","params":{"uri":"untitled:1","version":2,"changes":[{"text":"0","range":{"start":{"line":0,"character":5},"end":{"line":0,"character":5}}}]}}
<-- {"jsonrpc":"2.0","id":3,"result":{"uri":"untitled:1","version":2}}
--> {"jsonrpc":"2.0","id":4,"method":"edit","params":{"uri":"untitled:1","instruction":"double it"}}
<-- {"jsonrpc":"2.0","id":4,"result":{"status":"proposed","path":"","new_text":"x = 20\n"}}
--> {"jsonrpc":"2.0","id":5,"method":"document/close","params":{"uri":"untitled:1"}}
<-- {"jsonrpc":"2.0","id":5,"result":{"uri":"untitled:1"}}
"""

_MANY: Final = r"""
# /home/me/a.py holds "total = 0\n"
# /home/me/b.py holds "total = 0\n"
# the model's reply is "total = 1\n"
--> {"jsonrpc":"2.0","id":2,"method":"edit/many","params":{"all_or_nothing":true,"files":[{"path":"/home/me/a.py","instruction":"start at 1","mode":"apply"},{"path":"/home/me/b.py","instruction":"start at 1","mode":"apply"}]}}
<-- {"jsonrpc":"2.0","id":2,"result":{"complete":true,"files":[{"result":{"status":"applied","path":"/home/me/a.py","new_text":"total = 1\n"},"error":null},{"result":{"status":"applied","path":"/home/me/b.py","new_text":"total = 1\n"},"error":null}]}}
"""

_DAEMON: Final = r"""
# /home/me/shop.py holds "total = 0\n"
--> {"jsonrpc":"2.0","id":2,"method":"ping"}
<-- {"jsonrpc":"2.0","id":2,"result":{}}
--> {"jsonrpc":"2.0","id":3,"method":"status"}
<-- {"jsonrpc":"2.0","id":3,"result":{"state":"idle","message":"No model is in memory; the next edit loads it.","jobs":[]}}
--> {"jsonrpc":"2.0","id":4,"method":"model/list"}
<-- {"jsonrpc":"2.0","id":4,"result":{"models":[{"name":"builtin","pulled":true,"selected":true}],"recommended":"builtin"}}
--> {"jsonrpc":"2.0","id":5,"method":"model/info","params":{"name":"gpt"}}
<-- {"jsonrpc":"2.0","id":5,"error":{"code":-32041,"message":"No model is called 'gpt'. Use a name of `plgd model list`, a folder, or a Hugging Face id (owner/name)."}}
--> {"jsonrpc":"2.0","id":6,"method":"model/use","params":{"name":"builtin"}}
<-- {"jsonrpc":"2.0","id":6,"result":{"name":"builtin","selected":true}}
--> {"jsonrpc":"2.0","id":7,"method":"document/warm","params":{"path":"/home/me/shop.py"}}
<-- {"jsonrpc":"2.0","id":7,"result":{"path":"/home/me/shop.py","model":"builtin","cached_tokens":0}}
--> {"jsonrpc":"2.0","id":8,"method":"document/list"}
<-- {"jsonrpc":"2.0","id":8,"result":{"documents":[]}}
--> {"jsonrpc":"2.0","id":9,"method":"doctor"}
<-- {"jsonrpc":"2.0","id":9,"result":{}}
--> {"jsonrpc":"2.0","id":10,"method":"rpc.discover"}
<-- {"jsonrpc":"2.0","id":10,"result":{"openrpc":"1.3.2"}}
--> {"jsonrpc":"2.0","id":11,"method":"stop"}
<-- {"jsonrpc":"2.0","id":11,"result":{}}
"""

_CANCEL: Final = r"""
# /home/me/shop.py holds "total = 0\n"
# the model is being loaded
--> {"jsonrpc":"2.0","id":2,"method":"edit","params":{"path":"/home/me/shop.py","instruction":"start at 1","mode":"apply"}}
<-- {"jsonrpc":"2.0","method":"edit/progress","params":{"id":2,"stage":"loading"}}
--> {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}
<-- {"jsonrpc":"2.0","id":2,"error":{"code":-32800,"message":"Cancelled; nothing was changed."}}
"""

_MISTAKES: Final = r"""
--> {"jsonrpc":"2.0","id":2,"method":"edti","params":{}}
<-- {"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"There is no method 'edti'. Did you mean 'edit'?"}}
--> {"jsonrpc":"2.0","id":3,"method":"edit","params":{"instruction":5}}
<-- {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"edit: Expected `str`, got `int` (field `instruction`)."}}
--> {"jsonrpc":"2.0","id":4,"method":"edit","params":{"path":"/home/me/gone.py","instruction":"x"}}
<-- {"jsonrpc":"2.0","id":4,"error":{"code":-32011,"message":"/home/me/gone.py: no such file. Check the spelling, or create the file first."}}
--> [{"jsonrpc":"2.0","id":5,"method":"ping"}]
<-- {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Batches are not supported; send one message per line."}}
"""

# Heading, what it shows, the lines.
CONVERSATIONS: Final = tuple(
    (title, text, _HELLO + lines.strip("\n") + "\n")
    for title, text, lines in (
        ("An edit", "The result says what the new text is; nothing is written yet.", _EDIT),
        (
            "A proposal under review",
            "Hunks are accepted and rejected one by one, and written by compare-and-swap on the file's content.",
            _REVIEW,
        ),
        ("Applied at once, and only once", "A dry run first; then a key, so that a repeat does nothing twice.", _APPLY),
        ("A document that an editor holds", "Positions count from 0, in UTF-16 code units unless told.", _OPEN),
        ("Several files", "Every file is written, or none is, also if the daemon dies in the middle.", _MANY),
        ("Cancelled", "The request is answered all the same.", _CANCEL),
        ("The daemon and its models", "None of these waits for an edit, except the stop.", _DAEMON),
        ("Mistakes", "Each is told in a sentence, and the connection goes on.", _MISTAKES),
    )
)
