import AFURLSession

/// The cookies of one run, which all its groups share.
@MainActor final class RunCookies {
    let storage = HTTPCookieStorage()
    /// Those that came from files, as they are in the storage.
    private var filed: [[String]: HTTPCookie] = [:]

    /// Adds the cookies of a file. A cookie that a server has set in this run stays.
    func add(_ cookies: [HTTPCookie]) {
        let present = present
        let new = cookies.filter { present[key($0)] == filed[key($0)] }
        storage.setCookies(new, for: nil, mainDocumentURL: nil)
        let stored = self.present
        for key in cookies.map(key) where present[key] == filed[key] { filed[key] = stored[key] }
    }

    private var present: [[String]: HTTPCookie] {
        Dictionary((storage.cookies ?? []).map { (key($0), $0) }, uniquingKeysWith: { $1 })
    }

    private func key(_ cookie: HTTPCookie) -> [String] { [cookie.domain, cookie.path, cookie.name] }
}
