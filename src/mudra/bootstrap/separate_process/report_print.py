"""Prints reports of service levels in another process: a long one takes some 0.3 s."""

from datetime import datetime
from functools import partial

from mudra.bootstrap.separate_process.process_apart import NoAnswerApart, ProcessApart
from mudra.levels.printing.pdf import NO_PDF, TOO_MANY_PRINTS, can_print, pdf_of
from mudra.levels.printing.printed import Printed
from mudra.shared.refusal import Refusal


class ReportPrinter:
    """Implements levels/printing/pdf.py PrintPdf for one process; callers take turns."""

    def __init__(self) -> None:
        self._apart = ProcessApart()

    async def print(self, caller: str, printed: Printed, made_at: datetime) -> bytes | Refusal:
        """Returns the PDF, or why there is none."""
        if not can_print():
            return NO_PDF
        try:
            return await self._apart.run(caller, partial(pdf_of, printed, made_at))
        except NoAnswerApart:
            return TOO_MANY_PRINTS
