"""One message of each kind with everything in it; the golden files are their lines."""

from __future__ import annotations

from typing import Final

from plgd.errors import VersionMismatch
from plgd.protocol import envelope, methods
from plgd.protocol import messages as m
from plgd.protocol.docs import example_result
from plgd.protocol.drafting import DraftingParams
from plgd.protocol.sampling import SamplingParams

__all__ = ("NOTES", "REFUSAL", "REQUESTS", "RESULTS")

MODEL: Final = m.ModelInfo(
    name="builtin",
    source="package index",
    pulled=True,
    path="/home/me/.cache/plgd/models/builtin",
    size_bytes=98000000,
    memory_bytes=1000000000,
    context_limit=8192,
    licence="Apache-2.0",
    description="Small and always there.",
    selected=True,
)

REQUESTS: Final = {
    "hello": envelope.encode_request(1, methods.HELLO, m.HelloParams(protocol=1, version="0.1.0", client="plgd-cli")),
    "ping": envelope.encode_request(2, methods.PING, m.NoParams()),
    "status": envelope.encode_request("s-3", methods.STATUS, m.NoParams()),
    "edit": envelope.encode_request(
        4,
        methods.EDIT,
        m.EditParams(
            instruction="umbenennen: größe → size 🙂",
            path="/home/me/a.py",
            name="a.py",
            range=m.LineRange(first=2, last=9),
            base_fingerprint="5d41402abc4b2a76",
            mode=m.EditMode.APPLY,
            draft_hint="size = 1",
            max_tokens=500,
            model="builtin",
            sampling=SamplingParams(
                temperature=0.7,
                top_p=0.9,
                top_k=40,
                min_p=0.05,
                repetition_penalty=1.1,
                presence_penalty=0.5,
                frequency_penalty=-0.5,
                penalty_context=64,
                logit_bias={151: -100.0},
                seed=4294967295,
            ),
            drafting=DraftingParams(policy="graded", max_draft=15, ngram_min=2, ngram_max=4),
        ),
    ),
    "stop": envelope.encode_request(5, methods.STOP, m.StopParams(drain=False)),
    "model/list": envelope.encode_request(6, methods.MODEL_LIST, m.NoParams()),
    "model/info": envelope.encode_request(7, methods.MODEL_INFO, m.ModelParams(name="builtin")),
    "model/use": envelope.encode_request(8, methods.MODEL_USE, m.ModelParams(name="/models/mine")),
    "model/pull": envelope.encode_request(9, methods.MODEL_PULL, m.PullParams(name="builtin", force=True)),
    "doctor": envelope.encode_request(10, methods.DOCTOR, m.NoParams()),
}

RESULTS: Final = {
    "hello": m.HelloResult(protocol=1, version="0.1.0", pid=4711),
    "ping": m.PingResult(),
    "status": m.StatusResult(
        state="busy",
        message="Working on 1 edit, 0 waiting.",
        version="0.1.0",
        pid=4711,
        model="builtin",
        loading_percent=100.0,
        jobs=(m.JobInfo(session="3f2a9c51d07be846", name="/home/me/a.py", stage=m.Stage.DECODE, percent=37.5),),
        resident_bytes=790000000,
        device_bytes=538000000,
        device="cpu",
        socket="/home/me/.local/state/plgd/plgd.sock",
        uptime_s=12.5,
        n_edits=3,
        documents=(m.DocumentInfo(name="/home/me/a.py", version=2, n_bytes=1200),),
    ),
    "edit": example_result(),
    "stop": m.StopResult(pid=4711),
    "model/list": m.ModelListResult(models=(MODEL,), recommended="builtin"),
    "model/info": MODEL,
    "model/use": MODEL,
    "model/pull": MODEL,
    "doctor": m.DoctorResult(findings=(m.Finding(level="slow", subject="BLAS", fact="reference", advice="Install."),)),
}

NOTES: Final = {
    "$/cancelRequest": m.CancelParams(id="s-3"),
    "edit/progress": m.EditProgress(
        id=4, stage=m.Stage.DECODE, percent=37.5, tokens_per_s=99.5, n_tokens=60, queue_position=0
    ),
    "edit/delta": m.EditDelta(id=4, text="größe = 🙂\r\n"),
    "model/progress": m.PullProgress(id=9, step="download", done_bytes=10, total_bytes=0),
}

REFUSAL: Final = envelope.encode_failure(
    1,
    VersionMismatch.between("0.2.0", "0.1.0"),
    envelope.ErrorData(daemon_version="0.1.0", stopping=True),
)
