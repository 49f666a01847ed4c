"""One page of HTML with all that is known of a study, which needs no network: tables, curves, figures, settings.

`page` puts it together, `curves` holds the numbers of the interactive curves, `cells` the runs by method and problem
with their commands, `pictures` the figures. What the page looks like is in page.html, page.css and curves.js.
"""

from incenter.study.report.page import page as page
