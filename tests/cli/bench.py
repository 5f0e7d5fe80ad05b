"""What tests of the program count: how much was checked, and what was not as it should be."""


class Bench:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.checked, self.bad = tool, folder, 0, 0

    def check(self, what, good):
        self.checked += 1
        if not good:
            self.bad += 1
            print(what)
