"""One message of each kind with everything in it; the golden files are their lines."""

from __future__ import annotations

from typing import Final

from plgd.errors import VersionMismatch
from plgd.protocol import envelope, methods
from plgd.protocol.base import NoParams
from plgd.protocol.conflicts import ConflictLines
from plgd.protocol.daemon import (
    CancelParams,
    DoctorResult,
    DocumentInfo,
    Finding,
    HelloParams,
    HelloResult,
    JobInfo,
    PingResult,
    SharingInfo,
    StatusResult,
    StopParams,
    StopResult,
    WarmInfo,
)
from plgd.protocol.discovery import DiscoverResult
from plgd.protocol.docs import example_result
from plgd.protocol.documents import (
    ChangeParams,
    ChangeResult,
    CloseParams,
    CloseResult,
    DocumentListResult,
    OpenDocumentInfo,
    OpenParams,
    OpenResult,
    TextChange,
    TextPosition,
    TextRange,
    WarmParams,
    WarmResult,
)
from plgd.protocol.drafting import DraftingParams, DraftSource
from plgd.protocol.edit_many import EditManyParams, EditManyResult, FileError, FileResult
from plgd.protocol.edits import (
    EditDelta,
    EditMode,
    EditParams,
    EditPart,
    EditProgress,
    EditStatus,
    LineRange,
    Priority,
    Stage,
)
from plgd.protocol.models import ModelInfo, ModelListResult, ModelParams, PullParams, PullProgress
from plgd.protocol.sampling import SamplingParams
from plgd.protocol.sessions import (
    AcceptParams,
    AcceptResult,
    FileState,
    HunkState,
    RejectParams,
    ReviewedHunk,
    SessionParams,
    SessionResult,
)

__all__ = ("NOTES", "REFUSAL", "REQUESTS", "RESULTS")

MODEL: Final = ModelInfo(
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

SESSION: Final = "3f2a9c51d07be846"

SESSION_RESULT: Final = SessionResult(
    session=SESSION,
    stage=None,
    percent=100.0,
    status=EditStatus.PROPOSED,
    path="/home/me/a.py",
    base_fingerprint="5d41402abc4b2a76",
    new_fingerprint="7d793037a0760186",
    hunks=(
        ReviewedHunk(id=0, old_start=1, old_lines=1, new_start=1, new_lines=1, state=HunkState.ACCEPTED),
        ReviewedHunk(id=1, old_start=4, old_lines=0, new_start=5, new_lines=2, state=HunkState.REJECTED),
        ReviewedHunk(id=2, old_start=9, old_lines=3, new_start=10, new_lines=0, state=HunkState.OPEN),
    ),
    file=FileState.ACCEPTED,
    file_fingerprint="aa593037a0760186",
)

REQUESTS: Final = {
    "hello": envelope.encode_request(1, methods.HELLO, HelloParams(protocol=1, version="0.1.0", client="plgd-cli")),
    "ping": envelope.encode_request(2, methods.PING, NoParams()),
    "status": envelope.encode_request("s-3", methods.STATUS, NoParams()),
    "edit": envelope.encode_request(
        4,
        methods.EDIT,
        EditParams(
            instruction="umbenennen: größe → size 🙂",
            path="/home/me/a.py",
            name="a.py",
            range=LineRange(first=2, last=9),
            base_fingerprint="5d41402abc4b2a76",
            mode=EditMode.APPLY,
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
            sources=(DraftSource(path="/home/me/b.py"), DraftSource(text="size = 2")),
            show_drafts=True,
            code_edit="# ... existing code ...\nsize = 1\n",
            prediction="size = 1\n",
            priority=Priority.BATCH,
            deadline_ms=30000.0,
            edits=(
                EditPart(
                    instruction="grow",
                    range=LineRange(first=1, last=1),
                    code_edit="size = 3\n",
                    prediction="size = 3\n",
                ),
            ),
            dry_run=True,
            idempotency_key="rename-größe-1",
        ),
    ),
    "edit/many": envelope.encode_request(
        20,
        methods.EDIT_MANY,
        EditManyParams(
            files=(
                EditParams(instruction="rename", path="/home/me/a.py", mode=EditMode.APPLY),
                EditParams(code_edit="# ...\n", path="/home/me/b.py", mode=EditMode.APPLY),
            ),
            all_or_nothing=True,
            idempotency_key="rename-2",
        ),
    ),
    "edit/status": envelope.encode_request(16, methods.EDIT_STATUS, SessionParams(session=SESSION)),
    "edit/accept": envelope.encode_request(
        17, methods.EDIT_ACCEPT, AcceptParams(session=SESSION, hunks=(0, 2), dry_run=True)
    ),
    "edit/reject": envelope.encode_request(18, methods.EDIT_REJECT, RejectParams(session=SESSION, hunks=(1,))),
    "document/open": envelope.encode_request(
        11,
        methods.DOCUMENT_OPEN,
        OpenParams(uri="file:///home/me/a.py", text="größe = 🙂\n", version=1, encoding="utf-8", name="a.py"),
    ),
    "document/change": envelope.encode_request(
        12,
        methods.DOCUMENT_CHANGE,
        ChangeParams(
            uri="file:///home/me/a.py",
            version=2,
            changes=(
                TextChange(text=""),
                TextChange(
                    text="x",
                    range=TextRange(start=TextPosition(line=0, character=0), end=TextPosition(line=0, character=0)),
                ),
            ),
            fingerprint="2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
        ),
    ),
    "document/close": envelope.encode_request(13, methods.DOCUMENT_CLOSE, CloseParams(uri="file:///home/me/a.py")),
    "document/list": envelope.encode_request(14, methods.DOCUMENT_LIST, NoParams()),
    "document/warm": envelope.encode_request(
        15, methods.DOCUMENT_WARM, WarmParams(path="/home/me/a.py", model="builtin")
    ),
    "stop": envelope.encode_request(5, methods.STOP, StopParams(drain=False)),
    "model/list": envelope.encode_request(6, methods.MODEL_LIST, NoParams()),
    "model/info": envelope.encode_request(7, methods.MODEL_INFO, ModelParams(name="builtin")),
    "model/use": envelope.encode_request(8, methods.MODEL_USE, ModelParams(name="/models/mine")),
    "model/pull": envelope.encode_request(9, methods.MODEL_PULL, PullParams(name="builtin", force=True)),
    "doctor": envelope.encode_request(10, methods.DOCTOR, NoParams()),
    "rpc.discover": envelope.encode_request(19, methods.DISCOVER, NoParams()),
}

RESULTS: Final = {
    "hello": HelloResult(protocol=1, version="0.1.0", pid=4711),
    "ping": PingResult(),
    "status": StatusResult(
        state="busy",
        message="Working on 1 request, 0 waiting.",
        version="0.1.0",
        pid=4711,
        model="builtin",
        loading_percent=100.0,
        jobs=(
            JobInfo(
                session="3f2a9c51d07be846",
                name="/home/me/a.py",
                stage=Stage.DECODE,
                percent=37.5,
                priority=Priority.BATCH,
            ),
        ),
        resident_bytes=790000000,
        device_bytes=538000000,
        device="cpu",
        socket="/home/me/.local/state/plgd/plgd.sock",
        uptime_s=12.5,
        n_edits=3,
        n_completions=2,
        documents=(
            DocumentInfo(
                name="/home/me/a.py", version=2, n_bytes=1200, warm_tokens=420, kv_bytes=19000000, is_open=True
            ),
        ),
        sharing=SharingInfo(
            turns=40, joint_turns=12, joint_rows=30, joint_passes=11, most_rows=4, turns_because="the model has none"
        ),
        warm=WarmInfo(
            kv_bytes=19000000,
            kv_limit_bytes=2000000000,
            prompts=4,
            warm_prompts=3,
            prompt_tokens=1700,
            cached_tokens=1300,
            dropped=1,
            spill_bytes=57000000,
            spill_limit_bytes=1000000000,
            spill_states=3,
            spill_hits=2,
            spill_refused=1,
        ),
    ),
    "edit": example_result(),
    "edit/many": EditManyResult(
        session="7d1f0c2b9a8e6543",
        complete=False,
        files=(
            FileResult(result=example_result()),
            FileResult(error=FileError(path="/home/me/b.py", code=-32018, message="It is too long.")),
        ),
    ),
    "edit/status": SESSION_RESULT,
    "edit/accept": AcceptResult(
        session=SESSION,
        status=EditStatus.CONFLICT,
        path="/home/me/a.py",
        base_fingerprint="5d41402abc4b2a76",
        new_fingerprint="5d41402abc4b2a76",
        version=2,
        new_text="größe = 1\n",
        diff="",
        hunks=SESSION_RESULT.hunks,
        warnings=("/home/me/a.py changed while the model worked (also in line 1); it was left as it is.",),
        conflict=ConflictLines(
            first=1, last=1, file_first=3, base="größe = 1\n", file="größe = 2\n", edit="size = 1\n"
        ),
    ),
    "edit/reject": SESSION_RESULT,
    "document/open": OpenResult(
        uri="file:///home/me/a.py", path="/home/me/a.py", version=1, fingerprint="5d41402abc4b2a76"
    ),
    "document/change": ChangeResult(uri="file:///home/me/a.py", version=2),
    "document/close": CloseResult(uri="file:///home/me/a.py"),
    "document/list": DocumentListResult(
        documents=(
            OpenDocumentInfo(
                uri="file:///home/me/a.py",
                path="/home/me/a.py",
                version=2,
                fingerprint="5d41402abc4b2a76",
                n_bytes=1200,
                n_lines=41,
                warm_tokens=420,
                kv_bytes=19000000,
            ),
        )
    ),
    "document/warm": WarmResult(
        path="/home/me/a.py",
        model="builtin",
        head_tokens=420,
        cached_tokens=100,
        warm_tokens=420,
        kv_bytes=19000000,
        total_ms=850.5,
    ),
    "stop": StopResult(pid=4711),
    "model/list": ModelListResult(models=(MODEL,), recommended="builtin"),
    "model/info": MODEL,
    "model/use": MODEL,
    "model/pull": MODEL,
    "rpc.discover": DiscoverResult(
        openrpc="1.3.2",
        info={"title": "plgd", "version": "0.1.0"},
        methods=({"name": "ping", "params": [], "result": {"name": "PingResult", "schema": {}}},),
        components={"schemas": {}},
        notifications=({"name": "edit/delta", "params": []},),
    ),
    "doctor": DoctorResult(findings=(Finding(level="slow", subject="BLAS", fact="reference", advice="Install."),)),
}

NOTES: Final = {
    "$/cancelRequest": CancelParams(id="s-3"),
    "edit/progress": EditProgress(
        id=4, stage=Stage.DECODE, percent=37.5, tokens_per_s=99.5, n_tokens=60, queue_position=0
    ),
    "edit/delta": EditDelta(id=4, text="größe = 🙂\r\n"),
    "model/progress": PullProgress(id=9, step="download", done_bytes=10, total_bytes=0),
}

REFUSAL: Final = envelope.encode_failure(
    1,
    VersionMismatch.between("0.2.0", "0.1.0"),
    envelope.ErrorData(daemon_version="0.1.0", stopping=True),
)
