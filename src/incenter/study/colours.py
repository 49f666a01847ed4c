"""The colours of the pictures: Okabe and Ito's, which stay apart for colour-blind readers."""

BLUE, SKY, ORANGE, GREEN, VERMILLION, PURPLE = "#0072B2", "#56B4E9", "#E69F00", "#009E73", "#D55E00", "#CC79A7"
GREY = "#6b6b6b"
