"""Makes the binary fixtures in this folder. They are committed; run this only to change them.

    python3 -m venv venv && venv/bin/pip install reportlab python-docx pikepdf pillow && venv/bin/python make.py

All text is written for these tests.
"""

import io
import pathlib
import random

import docx
import pikepdf
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen import canvas

HERE = pathlib.Path(__file__).parent
LEFT = (
    "The lighthouse keeper wrote every evening what the wind had done to the "
    "water and to the boats that came home late. His notes fill forty books and "
    "nobody had read them before the archive was moved to the town hall last year."
)
RIGHT = (
    "The harbour master kept a different kind of list. He counted barrels, ropes "
    "and sails, and he drew a small circle beside each captain who still owed the "
    "harbour money. Eleven circles remain open in the book of the last winter."
)


def pdf(name, draw, **options):
    page = canvas.Canvas(str(HERE / name), pagesize=A4, invariant=1, **options)
    draw(page)
    page.save()


def wrap(text, chars):
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) + 1 > chars:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return lines + [line]


def columns(page):
    """Two columns drawn line by line across the page, as some writers do, under one title."""
    page.setTitle("Keeper and Master")
    page.setFont("Helvetica-Bold", 18)
    page.drawString(60, 770, "Two records of one harbour, kept by two men")
    page.setFont("Helvetica", 10)
    left, right = wrap(LEFT, 44), wrap(RIGHT, 44)
    for row in range(max(len(left), len(right))):
        if row < len(left):
            page.drawString(60, 730 - 13 * row, left[row])
        if row < len(right):
            page.drawString(320, 730 - 13 * row, right[row])
    page.drawString(60, 560, "This closing remark runs over the whole width of the page, below both of the columns.")
    page.showPage()


def prose(page):
    """Hyphens at line ends, a raised note, missing space glyphs, a table, a heading, three pages."""
    page.setFont("Helvetica-Bold", 20)
    page.drawString(70, 760, "Tides and Timetables")
    page.setFont("Helvetica", 11)
    for row, line in enumerate(
        [
            "The ferry office keeps a timetable that was printed before the new break-",
            "water changed the cur-",
            "rents. A well-known captain says that the old tables are wrong by eleven",
            "minutes at spring tide, which is a well-",
            "known problem for everyone who has to catch the morning train.",
        ]
    ):
        page.drawString(70, 720 - 15 * row, line)
    text = page.beginText(70, 600)
    text.setFont("Helvetica", 11)
    for at, word in enumerate("the efficient office moved words without any space glyph".split()):
        text.setTextOrigin(70 + 62 * at, 600)
        text.textOut(word)
    page.drawText(text)
    page.setFont("Helvetica-Bold", 14)
    page.drawString(70, 560, "Departures")
    page.setFont("Helvetica", 11)
    rows = [("Pier", "Boat", "Minutes"), ("North", "Heron", "25"), ("South", "Curlew", "40"), ("East", "Petrel", "55")]
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            page.drawString(70 + 130 * column, 530 - 16 * row, cell)
    page.showPage()
    page.setFont("Helvetica", 11)
    page.drawString(70, 760, "The second page speaks of lantern oil and of nothing else.")
    page.showPage()
    page.showPage()
    page.setFont("Helvetica", 11)
    page.rotate(90)
    page.drawString(120, -300, "The turned page lists the winter storage sheds.")
    page.showPage()


def scan_image(text):
    image = Image.new("L", (600, 200), 255)
    ImageDraw.Draw(image).text((30, 80), text, fill=0)
    return image


def images(page, with_text):
    from reportlab.lib.utils import ImageReader

    page.drawImage(ImageReader(scan_image("only an image of words")), 50, 500, 500, 160)
    page.showPage()
    if with_text:
        page.setFont("Helvetica", 11)
        page.drawString(70, 760, "This page has real text about the customs shed.")
        page.showPage()


def many_pages(page):
    page.setTitle("Watch log")
    for number in range(1, 84):
        page.setFont("Helvetica", 11)
        page.drawString(70, 760, f"Entry {number}: the watch on night {number} saw {number * 7} lights on the water.")
        page.showPage()


def draw_hebrew(page, lines):
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    pdfmetrics.registerFont(TTFont("DejaVu", "DejaVuSans.ttf"))
    page.setFont("DejaVu", 12)
    for row, line in enumerate(lines):
        page.drawString(70, 760 - 30 * row, line)
    page.showPage()


def right_to_left(page):
    """Hebrew as writers draw it: glyphs from left to right, so that the words stand in reverse."""
    words = ["\u05e1\u05d5\u05e3"[::-1], "1234", "\u05e2\u05d5\u05dc\u05dd"[::-1], "\u05e9\u05dc\u05d5\u05dd"[::-1]]
    draw_hebrew(page, [" ".join(words), "An English line stands below it."])


def unmapped():
    """A font whose map to Unicode names private characters only."""
    pdf("unmapped.pdf", lambda page: draw_hebrew(page, ["\u05e9\u05dc\u05d5\u05dd\u05e1\u05d5\u05e3"] * 6))
    with pikepdf.open(HERE / "unmapped.pdf", allow_overwriting_input=True) as document:
        for font in document.pages[0].Resources.Font.values():
            if "/ToUnicode" in font:
                entries = "\n".join(f"<{code:02X}> <E{code:03X}>" for code in range(256))
                cmap = (
                    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def "
                    "1 begincodespacerange <00> <FF> endcodespacerange\n"
                    f"100 beginbfchar\n{entries}\nendbfchar endcmap end end"
                )
                font.ToUnicode = document.make_stream(cmap.encode())
        document.save(HERE / "unmapped.pdf", deterministic_id=True)


def shift_jis():
    text = "港の灯台は夜だけ光ります。\n昼は白い塔が目印です。\n船は北から入ります。\n"
    (HERE / "shift-jis.txt").write_bytes(text.encode("shift_jis"))


def encrypted():
    with pikepdf.open(HERE / "prose.pdf") as document:
        document.save(HERE / "encrypted.pdf", encryption=pikepdf.Encryption(owner="owner", user="user", R=6), static_id=False)


def cyclic():
    """A page tree whose node is its own grandchild."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1000000 >>",
        b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 500000 /Parent 2 0 R >>",
    ]
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 4\n0000000000 65535 f \n")
    for offset in offsets:
        out.write(b"%010d 00000 n \n" % offset)
    out.write(b"trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start)
    (HERE / "cyclic.pdf").write_bytes(out.getvalue())


def set_cell(cell, text):
    cell.text = text


def word():
    document = docx.Document()
    document.core_properties.title = "Handbook of the Signal Station"
    document.add_heading("Signal Station", 1)
    document.add_paragraph("The station stands on the western cliff and answers every ship by day and by night.")
    document.add_heading("Flags", 2)
    document.add_paragraph("Blue means wait.", style="List Bullet")
    document.add_paragraph("Yellow means follow.", style="List Bullet")
    table = document.add_table(rows=3, cols=3)
    for row, cells in enumerate([("Flag", "Meaning", "Answer"), ("Blue", "wait", "two horns"), ("Yellow", "follow", "one horn")]):
        for column, cell in enumerate(cells):
            set_cell(table.cell(row, column), cell)
    document.add_heading("Crew", 2)
    outer = document.add_table(rows=2, cols=2)
    set_cell(outer.cell(0, 0), "Watch")
    set_cell(outer.cell(0, 1), "People")
    set_cell(outer.cell(1, 0), "Night")
    inner = outer.cell(1, 1).add_table(rows=3, cols=2)
    for row, cells in enumerate([("Name", "Duty"), ("Orla", "lamp"), ("Tadeusz", "radio")]):
        for column, cell in enumerate(cells):
            set_cell(inner.cell(row, column), cell)
    local = document.styles.add_style("Überschrift Eigen", WD_STYLE_TYPE.PARAGRAPH)
    local.base_style = document.styles["Heading 1"]
    document.add_paragraph("Maintenance", style="Überschrift Eigen")
    changed = document.add_paragraph("The lamp is cleaned ")
    deleted = OxmlElement("w:del")
    deleted.set(qn("w:id"), "1")
    deleted.set(qn("w:author"), "x")
    run = OxmlElement("w:r")
    gone = OxmlElement("w:delText")
    gone.text = "never "
    run.append(gone)
    deleted.append(run)
    changed._p.append(deleted)
    inserted = OxmlElement("w:ins")
    inserted.set(qn("w:id"), "2")
    inserted.set(qn("w:author"), "x")
    run = OxmlElement("w:r")
    text = OxmlElement("w:t")
    text.text = "every Tuesday & Friday."
    run.append(text)
    inserted.append(run)
    changed._p.append(inserted)
    document.save(HERE / "handbook.docx")


def main():
    random.seed(7)
    pdf("columns.pdf", columns)
    pdf("prose.pdf", prose)
    pdf("scan.pdf", lambda page: images(page, False))
    pdf("mixed.pdf", lambda page: images(page, True))
    pdf("many-pages.pdf", many_pages, pageCompression=1)
    pdf("rtl.pdf", right_to_left)
    unmapped()
    shift_jis()
    encrypted()
    cyclic()
    word()


if __name__ == "__main__":
    main()
