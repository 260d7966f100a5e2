// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "samples",
    targets: [
        .target(name: "CAFLinux", cSettings: strictC),
        .target(name: "AFWire", dependencies: ["AFLoop"]),  // expect: warnings
        .target(name: "AFLoop", dependencies: ["CAFLinux"], swiftSettings: strict),
        .executableTarget(name: "afnet", dependencies: ["AFWire"], swiftSettings: strict),
        .testTarget(  // expect: warnings
            name: "AFWireTests",
            dependencies: ["AFWire"]
        ),
    ]
)
