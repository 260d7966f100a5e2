import Foundation  // expect: imports
import Glibc
import Synchronization
@testable import AFLoop  // expect: imports
package import struct Dispatch.DispatchTime  // expect: imports
internal import FoundationNetworking  // expect: foundation-networking
