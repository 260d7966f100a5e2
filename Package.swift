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
        .library(name: "AFNetworking", targets: ["AFNetworking"]),
        .library(name: "AFNetworkingTesting", targets: ["AFNetworkingTesting"]),
        .executable(name: "afnet", targets: ["afnet"]),
    ],
    targets: [
        // MARK: C at the edge
        .target(name: "CAFLinux", cSettings: [.treatAllWarnings(as: .error), .enableWarning("extra")]),
        .target(
            name: "CAFOpenSSL",
            cSettings: [.treatAllWarnings(as: .error), .enableWarning("extra")],
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]
        ),
        .target(name: "CAFTestServer", cSettings: [.treatAllWarnings(as: .error), .enableWarning("extra")]),

        // MARK: The leaves, which never see each other
        .target(name: "AFWire", swiftSettings: strict),
        .target(name: "AFLoop", dependencies: ["CAFLinux"], swiftSettings: strict),

        .target(name: "AFTLS", dependencies: ["CAFOpenSSL"], swiftSettings: strict),

        // MARK: What users import
        .target(name: "AFURLSession", dependencies: ["AFWire", "AFLoop", "AFTLS"], swiftSettings: strict),
        .target(name: "AFNetworking", dependencies: ["AFURLSession"], swiftSettings: strict),
        .target(
            name: "AFNetworkingTesting",
            dependencies: ["AFWire", "AFTLS", "CAFOpenSSL", "CAFTestServer"],
            swiftSettings: strict
        ),
        .executableTarget(name: "afnet", dependencies: ["AFURLSession", "AFNetworking"], swiftSettings: strict),

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
            name: "AFTLSTests",
            dependencies: ["AFTLS", "CAFOpenSSL", "AFNetworkingTesting"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFNetworkingTests",
            dependencies: ["AFNetworking", "AFURLSession", "AFTLS", "AFNetworkingTesting"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFNetworkingTestingTests",
            dependencies: ["AFNetworkingTesting", "AFURLSession", "AFTLS", "CAFOpenSSL"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFURLSessionTests",
            dependencies: [
                "AFURLSession", "AFNetworking", "AFWire", "AFLoop", "AFTLS", "AFNetworkingTesting", "AFVirtualWorld",
                "AFFaults",
                "CAFLinux", "CAFOpenSSL",
            ],
            swiftSettings: strict
        ),
        .testTarget(name: "AFVirtualWorldTests", dependencies: ["AFVirtualWorld"], swiftSettings: strict),
        .testTarget(
            name: "afnetTests",
            dependencies: ["afnet", "AFNetworking", "AFURLSession", "AFNetworkingTesting"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFInteropTests",
            dependencies: ["AFURLSession", "AFNetworking", "AFNetworkingTesting"],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
