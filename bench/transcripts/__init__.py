"""Transcripts of other projects' benchmarks: files in, lists of messages out."""
