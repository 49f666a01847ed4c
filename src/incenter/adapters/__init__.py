"""The rules inside other people's training loops, a short module for each."""
