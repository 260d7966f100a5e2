import Foundation
import Testing

@testable import AFState

/// The storage model of RFC 6265bis as its text says it, step by step and without any thought of speed, on text that
/// is all ASCII. Written from the text, not from the sources.
private struct CookieModel {
    struct Entry {
        var name, value, domain, path: String
        var expiry: Int?
        var isPersistent, isHostOnly, isSecure: Bool
        var created, used: Int
    }

    struct Request {
        let scheme, host, path: String
        var isAddress: Bool { host.allSatisfy { $0.isNumber || $0 == "." } }
        var isSecure: Bool { scheme == "https" }
        var url: String { "\(scheme)://\(host)\(path)" }
    }

    var entries: [Entry] = []
    var tick = 0
    let perDomain, total, perRequest, bytes: Int

    func isSuffix(_ name: String) -> Bool { !name.contains(".") || name == "co.uk" }

    func site(_ host: String) -> String {
        let labels = host.components(separatedBy: ".")
        for first in labels.indices.dropFirst() where isSuffix(labels[first...].joined(separator: ".")) {
            return isSuffix(host) ? host : labels[(first - 1)...].joined(separator: ".")
        }
        return host
    }

    func domainMatches(_ string: String, _ domain: String, isAddress: Bool = false) -> Bool {
        string == domain || (string.hasSuffix("." + domain) && !isAddress)
    }

    func pathMatches(_ request: String, _ cookie: String) -> Bool {
        if request == cookie { return true }
        guard request.hasPrefix(cookie) else { return false }
        return cookie.hasSuffix("/") || Array(request)[cookie.count] == "/"
    }

    func defaultPath(_ path: String) -> String {
        let slashes = path.filter { $0 == "/" }.count
        if slashes <= 1 { return "/" }
        return String(path.reversed().drop { $0 != "/" }.dropFirst().reversed())
    }

    mutating func expire(_ now: Int) {
        entries.removeAll { $0.expiry.map { $0 <= now } ?? false }
    }

    mutating func receive(_ line: String, _ request: Request, _ now: Int) {
        expire(now)
        var parts = line.components(separatedBy: ";")
        let pair = parts.removeFirst()
        var name = ""
        var value = pair
        if let equals = pair.firstIndex(of: "=") {
            name = String(pair[..<equals])
            value = String(pair[pair.index(after: equals)...])
        }
        name = name.trimmingCharacters(in: .whitespaces)
        value = value.trimmingCharacters(in: .whitespaces)
        if name + value == "" { return }

        var attributes: [(String, String)] = []
        for part in parts {
            let halves = part.components(separatedBy: "=")
            let key = halves[0].trimmingCharacters(in: .whitespaces).lowercased()
            attributes.append((key, halves.dropFirst().joined(separator: "=").trimmingCharacters(in: .whitespaces)))
        }
        func last(_ key: String) -> String? { attributes.last { $0.0 == key }?.1 }

        var expiry: Int?
        if let age = attributes.last(where: { $0.0 == "max-age" && Int($0.1) != nil && !$0.1.hasPrefix("+") })?.1 {
            let seconds = Int(age) ?? 0
            expiry = seconds <= 0 ? Int.min : now + seconds
        }
        var isHostOnly = true
        var domain = request.host
        if var wanted = attributes.last(where: { $0.0 == "domain" && $0.1 != "" && $0.1 != "." })?.1.lowercased() {
            if wanted.hasPrefix(".") { wanted.removeFirst() }
            if isSuffix(wanted), wanted != request.host, domainMatches(request.host, wanted) { return }
            guard domainMatches(request.host, wanted, isAddress: request.isAddress) else { return }
            if !isSuffix(wanted), !request.isAddress { (isHostOnly, domain) = (false, wanted) }
        }
        let path = last("path").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? defaultPath(request.path)
        let isSecure = last("secure") != nil
        if isSecure, !request.isSecure { return }
        if !isSecure, !request.isSecure {
            for entry in entries where entry.isSecure && entry.name == name && pathMatches(path, entry.path) {
                if domainMatches(entry.domain, domain) || domainMatches(domain, entry.domain) { return }
            }
        }
        let lowered = name.lowercased()
        if lowered.hasPrefix("__secure-"), !isSecure { return }
        if lowered.hasPrefix("__host-"), !(isSecure && isHostOnly && last("path") != nil && path == "/") { return }
        if name == "", value.lowercased().hasPrefix("__secure-") || value.lowercased().hasPrefix("__host-") { return }

        tick += 1
        var entry = Entry(
            name: name,
            value: value,
            domain: domain,
            path: path,
            expiry: expiry,
            isPersistent: expiry != nil,
            isHostOnly: isHostOnly,
            isSecure: isSecure,
            created: tick,
            used: tick
        )
        if let old = entries.firstIndex(where: {
            $0.name == name && $0.domain == domain && $0.isHostOnly == isHostOnly && $0.path == path
        }) {
            entry.created = entries[old].created
            entries.remove(at: old)
        }
        entries.append(entry)
        expire(now)
        removeExcess(domain)
    }

    mutating func removeExcess(_ domain: String) {
        while entries.filter({ $0.domain == domain }).count > perDomain {
            let all = entries.filter { $0.domain == domain }
            drop(from: [all.filter { !$0.isSecure }, all])
        }
        while entries.count > total {
            let crowded = entries.filter { entry in
                entries.filter { site($0.domain) == site(entry.domain) }.count > perDomain
            }
            drop(from: [crowded.filter { !$0.isSecure }, crowded, entries])
        }
    }

    mutating func drop(from groups: [[Entry]]) {
        guard let group = groups.first(where: { !$0.isEmpty }), let used = group.map(\.used).min() else { return }
        entries.removeAll { $0.used == used }
    }

    mutating func field(_ request: Request, _ now: Int) -> String? {
        expire(now)
        let list = entries.filter { entry in
            let isForHost =
                entry.isHostOnly
                ? request.host == entry.domain
                : domainMatches(request.host, entry.domain, isAddress: request.isAddress)
            return isForHost && pathMatches(request.path, entry.path) && (!entry.isSecure || request.isSecure)
        }.sorted { $0.path.count != $1.path.count ? $0.path.count > $1.path.count : $0.created < $1.created }
        var field = ""
        var count = 0
        for entry in list {
            let text = (count > 0 ? "; " : "") + (entry.name == "" ? entry.value : "\(entry.name)=\(entry.value)")
            if count == perRequest || field.count + text.count > bytes { continue }
            field += text
            count += 1
            tick += 1
            if let index = entries.firstIndex(where: { $0.created == entry.created }) { entries[index].used = tick }
        }
        return count == 0 ? nil : field
    }
}

extension CookieRules {
    /// `AFNET_COOKIE_OPERATIONS` sets how many operations are compared: a hundred thousand take a minute.
    struct Model {
        private static let operations =
            ProcessInfo.processInfo.environment["AFNET_COOKIE_OPERATIONS"].flatMap { Int($0) } ?? 8000

        private static let hosts = [
            "example.com", "www.example.com", "a.www.example.com", "wwwexample.com", "shop.co.uk", "co.uk",
            "a.shop.co.uk", "other.com", "1.2.3.4", "host",
        ]
        private static let paths = ["/", "/a", "/a/", "/a/b", "/ab", "/a/b/c", "/b"]

        private static func request(_ dice: inout CookieDice) -> CookieModel.Request {
            CookieModel.Request(
                scheme: dice.pick(["http", "https"]),
                host: dice.pick(hosts),
                path: dice.pick(paths)
            )
        }

        private static func line(_ dice: inout CookieDice) -> String {
            var line =
                dice.pick(["a", "b", "c", "", "__Host-a", "__secure-b", "d"]) + dice.pick(["=", " = ", "=", ""])
            line += dice.pick(["1", "2", "x y", "", "__Host-x", "a=b", "longer value"])
            for _ in 0..<Int.random(in: 0...4, using: &dice) {
                let attribute = dice.pick([
                    "Secure", "HttpOnly", "Path=\(dice.pick(paths))", "path = \(dice.pick(paths)) ", "Path=", "Path=x",
                    "Domain=\(dice.pick(hosts))", "DOMAIN=.\(dice.pick(hosts))", "Domain=", "Domain=com",
                    "Max-Age=\(dice.pick(["0", "-1", "5", "50", "500", "x", "", "1x"]))", "foo=bar", "",
                ])
                line += dice.pick([";", "; ", " ;"]) + attribute
            }
            return line
        }

        @Test(arguments: 0..<4)
        func `the store does what the text of the RFC does, operation by operation`(seed: UInt64) throws {
            var limits = CookieLimits.standard
            (limits.perDomain, limits.total, limits.perRequest, limits.requestBytes) = (4, 12, 5, 40)
            var jar = CookieJar(limits: limits)
            var model = CookieModel(perDomain: 4, total: 12, perRequest: 5, bytes: 40)
            let suffixes = CookieRules.list("com\nuk\nco.uk\n")
            var dice = CookieDice(seed &+ ModelSeed.first)
            var now = 1000
            for step in 0..<(Model.operations / 4) {
                let request = Model.request(&dice)
                let question = try CookieRules.question(request.url)
                if dice.chance(20) { now += Int.random(in: 0...10, using: &dice) }
                if dice.chance(60) {
                    let line = Model.line(&dice)
                    model.receive(line, request, now)
                    if let cookie = try? SetCookieParser.parse(Array(line.utf8)),
                        let content = try? CookieAdmission.admit(
                            cookie,
                            from: question,
                            now: Int64(now),
                            suffixes: suffixes,
                            limits: limits
                        )
                    {
                        _ = try? jar.store(
                            content,
                            isSecured: question.isSecured,
                            now: Int64(now),
                            suffixes: suffixes
                        )
                    }
                } else {
                    let field = jar.field(for: question, now: Int64(now), suffixes: suffixes)
                    let expected = model.field(request, now)
                    try #require(field.map { String(decoding: $0, as: UTF8.self) } == expected, "seed \(seed), \(step)")
                }
                guard step % 8 == 0 else { continue }
                jar.advance(to: Int64(now))
                model.expire(now)
                let found = jar.cookies.map { Model.text($0.content) }
                let expected = model.entries.sorted { $0.created < $1.created }.map(Model.text)
                try #require(found == expected, "seed \(seed), step \(step)")
                try #require(jar.count == expected.count)
            }
        }

        private static func text(_ cookie: CookieContent) -> String {
            let (name, value) = (
                String(decoding: cookie.name, as: UTF8.self), String(decoding: cookie.value, as: UTF8.self)
            )
            let path = String(decoding: cookie.path, as: UTF8.self)
            return
                "\(name)|\(value)|\(cookie.domain)|\(cookie.isHostOnly)|\(path)|\(cookie.isSecure)|\(cookie.expires ?? 0)"
        }

        private static func text(_ entry: CookieModel.Entry) -> String {
            "\(entry.name)|\(entry.value)|\(entry.domain)|\(entry.isHostOnly)|\(entry.path)|\(entry.isSecure)|\(entry.expiry ?? 0)"
        }
    }
}
