"""The paper's case studies, with its numbers beside ours and its mechanism beside the correct ones."""
