"""The cone explorer: a local page on which three gradients are dragged, and every number is the library's."""
