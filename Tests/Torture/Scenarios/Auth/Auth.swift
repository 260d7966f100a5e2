import AFTorture

extension Scenario {
    static let auth: [Scenario] = []
}
