// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "swift-afnetworking",
    products: [
        .library(name: "AFURLSession", targets: ["AFURLSession"]),
        .library(name: "AFNetworkingTesting", targets: ["AFNetworkingTesting"]),
        .executable(name: "afnet", targets: ["afnet"]),
    ],
    targets: [
        // MARK: C at the edge
        .target(name: "CAFLinux", cSettings: [.treatAllWarnings(as: .error), .enableWarning("extra")]),
        .target(name: "CAFTestServer", cSettings: [.treatAllWarnings(as: .error), .enableWarning("extra")]),

        // MARK: The leaves, which never see each other
        .target(name: "AFWire", swiftSettings: strict),
        .target(name: "AFLoop", dependencies: ["CAFLinux"], swiftSettings: strict),

        // MARK: What users import
        .target(name: "AFURLSession", dependencies: ["AFWire", "AFLoop"], swiftSettings: strict),
        .target(name: "AFNetworkingTesting", dependencies: ["AFWire", "CAFTestServer"], swiftSettings: strict),
        .executableTarget(name: "afnet", dependencies: ["AFURLSession"], swiftSettings: strict),

        // MARK: Tests
        .target(
            name: "AFVirtualWorld",
            dependencies: ["AFWire", "AFLoop", "AFURLSession"],
            path: "Tests/Support/AFVirtualWorld",
            swiftSettings: strict
        ),
        .target(
            name: "CAFTestSupport",
            dependencies: ["CAFLinux"],
            path: "Tests/Support/CAFTestSupport",
            cSettings: [.treatAllWarnings(as: .error), .enableWarning("extra")]
        ),
        .target(
            name: "AFFaults",
            dependencies: ["CAFLinux", "CAFTestSupport"],
            path: "Tests/Support/AFFaults",
            swiftSettings: strict
        ),
        .testTarget(name: "AFWireTests", dependencies: ["AFWire"], swiftSettings: strict),
        .testTarget(name: "AFLoopTests", dependencies: ["AFLoop", "AFFaults", "CAFLinux"], swiftSettings: strict),
        .testTarget(
            name: "AFNetworkingTestingTests",
            dependencies: ["AFNetworkingTesting"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFURLSessionTests",
            dependencies: [
                "AFURLSession", "AFWire", "AFLoop", "AFNetworkingTesting", "AFVirtualWorld", "AFFaults",
                "CAFLinux",
            ],
            swiftSettings: strict
        ),
        .testTarget(name: "AFVirtualWorldTests", dependencies: ["AFVirtualWorld"], swiftSettings: strict),
        .testTarget(
            name: "afnetTests",
            dependencies: ["afnet", "AFURLSession", "AFNetworkingTesting"],
            swiftSettings: strict
        ),
        .testTarget(name: "AFInteropTests", dependencies: ["AFURLSession"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
