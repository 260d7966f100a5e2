import AFTorture

extension Scenario {
    /// Every scenario there is, a list for each group.
    static let all =
        plain + tls + proxy + redirect + auth + upload + download + cache + cookies + streams + reachability + images
}
