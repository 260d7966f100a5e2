// A target without a row. expect: imports
import Foundation
