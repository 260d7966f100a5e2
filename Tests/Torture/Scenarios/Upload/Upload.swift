import AFTorture

extension Scenario {
    static let upload: [Scenario] = []
}
