import XCTest  // expect: xctest
import FoundationNetworking  // expect: foundation-networking
@testable import AFLoop

let value = try! make() as! Int
