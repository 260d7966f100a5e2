public import Foundation

/// Where an error is put, as on Apple's platforms: pass `&error` of a variable of type `NSError?`, or nil.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// Calls a function that hands out an error beside its result, with the error as a value.
func collectingError<Result>(_ body: (NSErrorPointer) -> Result) -> (result: Result, error: NSError?) {
    var error: NSError?
    let result = withUnsafeMutablePointer(to: &error) { body($0) }
    return (result, error)
}
