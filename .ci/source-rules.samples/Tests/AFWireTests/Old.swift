import XCTest  // expect: xctest
import FoundationNetworking  // expect: foundation-networking
@testable import AFLoop  // expect: dependencies
@testable import AFWire

let value = try! make() as! Int

let cost = ContinuousClock().measure { run() }  // expect: elapsed-time
let quick = ContinuousClock.now - start < .seconds(5)  // expect: elapsed-time
let waited = ContinuousClock.now - start > .seconds(5)
