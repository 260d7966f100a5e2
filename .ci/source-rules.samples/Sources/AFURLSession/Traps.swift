import Foundation

// fatalError("in a comment") is no violation, and try! neither.
/* nor is /* a nested */ as! one */
func traps(url: URL, baseURL: URL?, endpoint: Endpoint, name: UnsafePointer<CChar>) {
    try! run()  // expect: force-try
    fatalError("no")  // expect: fatal-error
    _ = endpoint as! Int  // expect: forced-cast
    _ = endpoint as? Int
    _ = baseURL!.scheme  // expect: forced-unwrap
    _ = names[0]! + run()!  // expect: forced-unwrap, forced-unwrap
    let late: URL!  // expect: forced-unwrap
    _ = !flag && endpoint != other && first !== second
    _ = try Data(contentsOf: url, options: .mappedIfSafe)  // expect: mapped-file
    let deadline = Date() + 5  // expect: wall-clock
    let late = date.timeIntervalSinceNow  // expect: wall-clock
    let past = Date.now.timeIntervalSince(date)  // expect: wall-clock
    _ = Date(timeIntervalSinceNow: 5)  // expect: wall-clock
    _ = Date(timeIntervalSince1970: 0)
    _ = Date.nowInSeconds
    _ = url.host  // expect: url-host
    _ = baseURL?.host == nil  // expect: url-host
    _ = URL(string: "https://\(name)/")?.host ?? name  // expect: url-host
    _ = URLComponents(string: "")
    _ = url.host(percentEncoded: true)
    _ = endpoint.host
    _ = field.split(separator: ";")  // expect: text-search
    _ = String(cString: name)  // expect: c-string
    _ = FileHandle.standardInput  // expect: file-handle
    _ = getenv("HOME")  // expect: getenv
    _ = LoadFailure(.limit, phase: .preparing, message: "")  // expect: failure
    log(#file)  // expect: file-name
    log(#filePath)  // expect: file-name
    log(#fileID)
    print("no")  // expect: print
    printer.print("yes")
    _ = "try! fatalError( \"as! \(text.lowercased()) unowned"  // expect: lowercased
    _ = "\(baseURL.map { "\($0.host!)" }) try!"  // expect: forced-unwrap
    _ = #"raw \(try! x) " fatalError("# + #"\#(value as! Int)"#  // expect: forced-cast
    _ = """
        try! fatalError(
        \(url.host /* expect: url-host */) as!
        """
    unowned let last = endpoint  // expect: unowned
}

final class Holder {
    @exclusivity(unchecked) var count = 0  // expect: exclusivity
    @exclusivity(checked) var other = 0
}
