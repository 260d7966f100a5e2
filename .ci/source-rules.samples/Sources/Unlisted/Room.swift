// A target nobody gave a row. expect: imports
import Foundation
