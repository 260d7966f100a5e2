// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "samples",
    targets: [
        .target(name: "CAFLinux", cSettings: [.treatAllWarnings(as: .error)]),
        .target(name: "AFWire"),  // expect: warnings
        .executableTarget(name: "afnet", swiftSettings: strict),
        .testTarget(  // expect: warnings
            name: "AFWireTests",
            dependencies: ["AFWire"]
        ),
    ]
)
