import Glibc

/// The variables of the process, one at a time: Foundation would make a dictionary of all of them, which takes a tenth as
/// long as a whole request.
enum Environment {
    static func value(of name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
