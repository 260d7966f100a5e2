// swift-tools-version: 6.2
// A package of its own, because the clients measured against bring needs of their own.
import PackageDescription

let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "swift-afnetworking", path: "..")],
    targets: [
        .executableTarget(
            name: "afbench",
            dependencies: [.product(name: "AFURLSession", package: "swift-afnetworking")],
            swiftSettings: [
                .treatAllWarnings(as: .error),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("ExistentialAny"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
