import AFURLSession
import AFWire  // expect: imports

print("a program speaks to its user")
