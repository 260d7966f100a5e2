// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "samples",
    targets: [
        .target(name: "CAFLinux", cSettings: [.treatAllWarnings(as: .error)]),
        .target(name: "AFWire"),  // expect: warnings
        .target(name: "AFLoop", swiftSettings: strict),
        .executableTarget(name: "afnet", dependencies: ["AFWire"], swiftSettings: strict),
        .testTarget(  // expect: warnings
            name: "AFWireTests",
            dependencies: ["AFWire"]
        ),
    ]
)
