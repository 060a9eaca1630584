from tests.support.real_tools import write

write()
