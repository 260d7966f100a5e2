// swift-tools-version: 6.2
// A package that depends on the library as a program of yours does. To copy one example, replace the path below.
import PackageDescription

// Warnings are errors in our own checks only: a newer compiler may find more of them.
let strict: [SwiftSetting] =
    (Context.environment["AFNET_CHECKS"] != nil ? [.treatAllWarnings(as: .error)] : []) + [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

let client: Target.Dependency = .product(name: "AFNetworking", package: "swift-afnetworking")
let images: Target.Dependency = .product(name: "AFImages", package: "swift-afnetworking")
let servers: Target.Dependency = .product(name: "AFNetworkingTesting", package: "swift-afnetworking")

func example(_ name: String, _ products: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: products, path: name, swiftSettings: strict)
}

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "swift-afnetworking", path: "../..")],
    targets: [
        example("FirstRequest", client),
        example("PinnedClient", client, servers),
        example("Downloader", client, servers),
        example("LogShipper", client, servers),
        example("LinkChecker", client, servers),
        example("PinRotation", client, servers),
        example("TestingYourCode", client, servers),
        example("ImageGallery", images, servers),
        example("Demo", client, servers),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "Demo", "Downloader", "ImageGallery", "LinkChecker", "LogShipper", "PinnedClient", "PinRotation",
                "TestingYourCode", client, servers,
            ],
            path: "Tests",
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
