"""Every shape of files, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from recordings.formats.shapes.annotated_acts import DIALOGUEKIT, IARD
from recordings.formats.shapes.atif import ATIF
from recordings.formats.shapes.audit_table import TABLE
from recordings.formats.shapes.campaign import CAMPAIGN, USERSIM
from recordings.formats.shapes.convokit import CONVOKIT
from recordings.formats.shapes.inspect_log import INSPECT
from recordings.formats.shapes.langfuse import LANGFUSE
from recordings.formats.shapes.shape import Shape
from recordings.formats.shapes.spans import OTLP
from recordings.formats.shapes.speakers import SDIALOG
from recordings.formats.shapes.tau2 import TAU2
from recordings.formats.shapes.trec import IKAT, RAG, TOPICS

SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        shape.name: shape
        for shape in (
            *(TABLE, INSPECT, TAU2, ATIF, OTLP, LANGFUSE),
            *(DIALOGUEKIT, SDIALOG, CONVOKIT, IARD, TOPICS, IKAT, RAG),
            *(CAMPAIGN, USERSIM),
        )
    }
)
