import Glibc

let first = String(cString: strerror(1))
let second = String(cString: strerror(2))  // expect: c-string
