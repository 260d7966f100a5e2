// swift-tools-version: 6.2
// A package of its own, because the clients measured against bring needs of their own.
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "swift-afnetworking", path: "..")],
    targets: [
        // MARK: What all clients share: the command line, the figures, the line of JSON
        .target(name: "CBench", cSettings: [.treatAllWarnings(as: .error), .enableWarning("extra")]),
        .target(name: "Harness", dependencies: ["CBench"], swiftSettings: strict),

        // MARK: Ours
        .executableTarget(
            name: "afbench",
            dependencies: [
                "Harness",
                .product(name: "AFNetworking", package: "swift-afnetworking"),
                .product(name: "AFURLSession", package: "swift-afnetworking"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "hello-swift",
            dependencies: [.product(name: "AFURLSession", package: "swift-afnetworking")],
            swiftSettings: strict
        ),

        // MARK: Pictures, and the libraries called directly
        .target(
            name: "CDecoders",
            cSettings: [.treatAllWarnings(as: .error), .enableWarning("extra")],
            linkerSettings: [.linkedLibrary("png"), .linkedLibrary("jpeg"), .linkedLibrary("webp")]
        ),
        .executableTarget(
            name: "decodebench",
            dependencies: ["CDecoders", .product(name: "AFImages", package: "swift-afnetworking")],
            swiftSettings: strict
        ),

        // MARK: FoundationNetworking
        .executableTarget(name: "fnbench", dependencies: ["Harness"], swiftSettings: strict),
        .executableTarget(name: "hello-fn", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
