"""The paper's case studies: its numbers beside ours, its mechanism beside the correct ones."""
