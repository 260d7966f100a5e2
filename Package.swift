// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors in our own checks only: a newer compiler may find more of them.
let isChecked = Context.environment["AFNET_CHECKS"] != nil
let strict: [SwiftSetting] =
    (isChecked ? [.treatAllWarnings(as: .error)] : []) + [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
let legacy: [SwiftSetting] = (isChecked ? [.treatAllWarnings(as: .error)] : []) + [.swiftLanguageMode(.v5)]
let strictC: [CSetting] = (isChecked ? [.treatAllWarnings(as: .error)] : []) + [.enableWarning("extra")]

let fuzzed: [Target.Dependency] = [
    "AFBase", "AFImages", "AFLoop", "AFNetworking", "AFNetworkingTesting", "AFNetworkingXML", "AFState", "AFTLS",
    "AFTransport", "AFURLSession", "AFURLTypes", "AFVirtualWorld", "AFWire",
]

let package = Package(
    name: "swift-afnetworking",
    products: [
        .library(name: "AFURLSession", targets: ["AFURLSession"]),
        .library(name: "AFNetworking", targets: ["AFNetworking"]),
        .library(name: "AFSecurity", targets: ["AFSecurity"]),
        .library(name: "AFNetworkingXML", targets: ["AFNetworkingXML"]),
        .library(name: "AFImages", targets: ["AFImages"]),
        .library(name: "AFNetworkingTesting", targets: ["AFNetworkingTesting"]),
        .executable(name: "afnet", targets: ["afnet"]),
    ],
    traits: [
        .trait(
            name: "Brotli",
            description: "Bodies coded with br, with libbrotlidec and libbrotlienc (libbrotli-dev)."
        ),
        .trait(name: "Zstd", description: "Bodies coded with zstd, with libzstd (libzstd-dev)."),
    ],
    targets: [
        // MARK: C at the edge
        .systemLibrary(name: "CAFZlib", providers: [.apt(["zlib1g-dev"])]),
        // Each is looked at only with the trait of its name.
        .systemLibrary(name: "CAFBrotli", providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(name: "CAFZstd", providers: [.apt(["libzstd-dev"])]),
        .target(name: "CAFLinux", cSettings: strictC),
        .target(
            name: "CAFOpenSSL",
            dependencies: ["CAFLinux"],
            cSettings: strictC,
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]
        ),
        .target(name: "CAFImageCodecs", cSettings: strictC),
        // These link the libraries of pictures. One whose header is missing cannot be imported, and nothing else breaks.
        .systemLibrary(name: "CAFLibPNG", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CAFLibJPEG", providers: [.apt(["libjpeg-dev"])]),
        .systemLibrary(name: "CAFLibWebP", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(name: "CAFLibGIF", providers: [.apt(["libgif-dev"])]),
        .target(name: "CAFTestServer", dependencies: ["CAFOpenSSL"], cSettings: strictC),

        // MARK: Foundations
        .target(name: "AFBase", swiftSettings: strict),
        // These three never see each other.
        .target(name: "AFWire", dependencies: ["AFBase"], swiftSettings: strict),
        .target(name: "AFLoop", dependencies: ["AFBase", "CAFLinux"], swiftSettings: strict),
        .target(name: "AFTLS", dependencies: ["AFBase", "CAFOpenSSL"], swiftSettings: strict),

        // MARK: One request, as it goes on the wire
        .target(name: "AFRequest", dependencies: ["AFBase", "AFWire", "AFLoop"], swiftSettings: strict),

        // MARK: One request on the wire
        .target(
            name: "AFTransport",
            dependencies: [
                "AFBase", "AFWire", "AFLoop", "AFTLS", "AFRequest", "CAFZlib",
                .byName(name: "CAFBrotli", condition: .when(traits: ["Brotli"])),
                .byName(name: "CAFZstd", condition: .when(traits: ["Zstd"])),
            ],
            swiftSettings: strict
        ),

        // MARK: What is remembered between requests
        .target(name: "AFState", dependencies: ["AFBase", "AFWire", "AFLoop", "AFTLS"], swiftSettings: strict),

        // MARK: Foundation's values
        .target(
            name: "AFURLTypes",
            dependencies: ["AFBase", "AFWire", "AFLoop", "AFTLS", "AFRequest", "AFState"],
            swiftSettings: strict
        ),

        // MARK: What users import
        .target(
            name: "AFURLSession",
            dependencies: ["AFBase", "AFWire", "AFLoop", "AFTLS", "AFRequest", "AFTransport", "AFState", "AFURLTypes"],
            swiftSettings: strict
        ),
        // What of AFNetworking needs no session.
        .target(name: "AFSerialization", dependencies: ["AFBase", "AFRequest", "AFURLTypes"], swiftSettings: strict),
        .target(
            name: "AFNetworking",
            dependencies: ["AFBase", "AFSerialization", "AFURLSession"],
            swiftSettings: strict
        ),
        // Apart from the rest, since only code that was written for Apple's frameworks needs its names.
        .target(name: "AFSecurity", dependencies: ["AFBase", "AFTLS", "AFURLTypes"], swiftSettings: strict),
        // Apart from the rest, since Foundation's XML loads libxml2.
        .target(name: "AFNetworkingXML", dependencies: ["AFBase", "AFNetworking"], swiftSettings: strict),
        // Apart from the rest, since it loads the libraries of the picture formats.
        .target(
            name: "AFImages",
            dependencies: [
                "AFBase", "AFNetworking", "CAFImageCodecs", "CAFLibPNG", "CAFLibJPEG", "CAFLibWebP", "CAFLibGIF",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "AFNetworkingTesting",
            dependencies: ["AFWire", "AFTLS", "CAFOpenSSL", "CAFTestServer", "CAFZlib"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "afnet",
            dependencies: ["AFBase", "CAFLinux", "AFURLSession", "AFNetworking", "AFImages", "AFNetworkingTesting"],
            swiftSettings: strict
        ),

        // MARK: Tests
        // Whole sessions on a virtual system.
        .target(
            name: "AFVirtualWorld",
            dependencies: ["AFBase", "AFLoop", "AFTestSupport", "AFURLSession", "AFVirtualSystem"],
            path: "Tests/Support/AFVirtualWorld",
            swiftSettings: strict
        ),
        // What the transport stands on, without sockets, disks and clocks. It knows no module above AFTransport.
        .target(
            name: "AFVirtualSystem",
            dependencies: [
                "AFBase", "AFTestSupport", "AFWire", "AFLoop", "AFTLS", "AFTransport", "AFNetworkingTesting",
                "CAFLinux",
                "CAFTestSupport",
            ],
            path: "Tests/Support/AFVirtualSystem",
            swiftSettings: strict
        ),
        // What tests of more than one module need, and no module above AFTLS.
        .target(
            name: "AFTestSupport",
            dependencies: [
                "AFBase", "AFLoop", "AFTLS", "AFNetworkingTesting", "AFFaults", "CAFOpenSSL", "CAFTestServer",
                "CAFZlib",
            ],
            path: "Tests/Support/AFTestSupport",
            swiftSettings: strict
        ),
        // Requests, cookies and responses for tests of more than one module.
        .target(
            name: "AFTestFixtures",
            dependencies: [
                "AFBase", "AFRequest", "AFSerialization", "AFTestSupport", "AFWire", "AFState", "AFTransport",
                "AFURLTypes",
            ],
            path: "Tests/Support/AFTestFixtures",
            swiftSettings: strict
        ),
        .target(
            name: "CAFTestSupport",
            dependencies: ["CAFLinux"],
            path: "Tests/Support/CAFTestSupport",
            cSettings: strictC
        ),
        .target(
            name: "CAFImageFixtures",
            path: "Tests/Support/CAFImageFixtures",
            cSettings: strictC
        ),
        .target(
            name: "AFFaults",
            dependencies: ["CAFLinux", "CAFTestSupport"],
            path: "Tests/Support/AFFaults",
            swiftSettings: strict
        ),
        .target(
            name: "AFTorture",
            dependencies: [
                "AFBase", "AFFaults", "AFLoop", "AFNetworking", "AFNetworkingTesting", "AFTestSupport", "AFURLSession",
                "CAFLinux",
            ],
            path: "Tests/Support/AFTorture",
            swiftSettings: strict
        ),
        // Stands before OpenSSL and zlib in whatever is linked with it, so only one program is.
        .target(
            name: "CAFLibraryFaults",
            path: "Tests/Support/CAFLibraryFaults",
            cSettings: strictC
        ),
        .executableTarget(
            name: "afnet-torture",
            dependencies: [
                "AFBase", "AFTorture", "AFFaults", "AFImages", "AFNetworking", "AFURLSession", "AFLoop", "AFTLS",
                "AFTransport", "AFNetworkingTesting", "CAFLibraryFaults", "CAFImageFixtures",
            ],
            path: "Tests/Torture",
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFTortureTests",
            dependencies: ["AFBase", "AFTorture", "AFFaults", "AFLoop", "AFNetworkingTesting", "AFURLSession"],
            swiftSettings: strict
        ),
        // `./dev slopes` and `./dev soak`.
        .executableTarget(
            name: "afnet-soak",
            dependencies: [
                "AFBase", "AFImages", "AFNetworking", "AFURLSession", "AFLoop", "AFNetworkingTesting", "AFFaults",
                "CAFLinux",
            ],
            path: "Tests/Support/AFSoak",
            swiftSettings: strict
        ),
        .testTarget(name: "AFSoakTests", dependencies: ["afnet-soak", "AFFaults"], swiftSettings: strict),
        .testTarget(name: "AFBaseTests", dependencies: ["AFBase"], swiftSettings: strict),
        .testTarget(name: "AFWireTests", dependencies: ["AFBase", "AFWire", "AFFaults"], swiftSettings: strict),
        .testTarget(
            name: "AFLoopTests",
            dependencies: ["AFBase", "AFTestSupport", "AFLoop", "AFFaults", "CAFLinux"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFTLSTests",
            dependencies: ["AFBase", "AFTLS", "AFTestSupport", "CAFOpenSSL", "AFNetworkingTesting", "AFFaults"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFTransportTests",
            dependencies: [
                "AFBase", "AFTestSupport", "AFTransport", "AFWire", "AFLoop", "AFTLS", "AFNetworkingTesting",
                "AFVirtualSystem", "AFFaults", "CAFOpenSSL", "CAFZlib",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFStateTests",
            dependencies: [
                "AFBase", "AFRequest", "AFTestFixtures", "AFTestSupport", "AFState", "AFURLTypes", "AFWire", "AFLoop",
                "AFTLS", "AFNetworkingTesting", "AFVirtualSystem", "AFFaults", "CAFLinux",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFURLTypesTests",
            dependencies: [
                "AFBase", "AFTestFixtures", "AFTestSupport", "AFURLTypes", "AFState", "AFRequest", "AFWire", "AFLoop",
                "AFTLS", "AFNetworkingTesting", "AFFaults",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFSerializationTests",
            dependencies: [
                "AFBase", "AFTestFixtures", "AFTestSupport", "AFSerialization", "AFURLSession", "AFURLTypes", "AFWire",
                "AFTLS", "AFNetworkingTesting", "AFFaults",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFNetworkingTests",
            dependencies: [
                "AFBase", "AFTestFixtures", "AFTestSupport", "AFNetworking", "AFSerialization", "AFURLSession",
                "AFURLTypes",
                "AFWire", "AFLoop", "AFTLS", "AFNetworkingTesting", "AFVirtualWorld", "AFFaults", "CAFLinux",
            ],
            swiftSettings: strict
        ),
        // Code for Apple's platforms, in the language of its time.
        .testTarget(
            name: "AFNetworkingPortedTests",
            dependencies: ["AFImages", "AFNetworking", "AFNetworkingTesting"],
            swiftSettings: legacy
        ),
        // The same in Swift 6, in classes of the main actor: it compiles, and the compiler warns where a closure is called on
        // a queue of the program's choice.
        .testTarget(
            name: "AFNetworkingSwift6Tests",
            dependencies: ["AFImages", "AFNetworking", "AFNetworkingTesting", "AFSecurity", "AFTestSupport"],
            swiftSettings: [.unsafeFlags(["-suppress-warnings"])]
        ),
        // Code in a module whose default isolation is the main actor.
        .testTarget(
            name: "AFDefaultIsolationTests",
            dependencies: ["AFNetworking", "AFNetworkingTesting"],
            swiftSettings: [.defaultIsolation(MainActor.self), .unsafeFlags(["-suppress-warnings"])]
        ),
        .testTarget(
            name: "AFSecurityTests",
            dependencies: ["AFNetworkingTesting", "AFSecurity", "AFTLS", "AFURLSession"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFNetworkingXMLTests",
            dependencies: ["AFNetworkingXML", "AFNetworking", "AFNetworkingTesting"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFImagesTests",
            dependencies: [
                "AFBase", "AFImages", "AFNetworking", "AFNetworkingTesting", "AFTestSupport", "AFFaults",
                "CAFImageFixtures",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFNetworkingTestingTests",
            dependencies: ["AFNetworkingTesting", "AFURLSession", "AFTLS", "AFWire", "CAFOpenSSL"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFURLSessionTests",
            dependencies: [
                "AFBase", "AFRequest", "AFTestFixtures", "AFTestSupport", "AFState", "AFTransport", "AFURLSession",
                "AFURLTypes", "AFImages", "AFNetworking", "AFSecurity", "AFWire", "AFLoop", "AFTLS",
                "AFNetworkingTesting", "AFVirtualWorld", "AFFaults", "CAFLinux", "CAFOpenSSL",
            ],
            swiftSettings: strict
        ),
        // Code written for Foundation's loader, in the mode in which most of it is compiled.
        .testTarget(
            name: "AFPortedTests",
            dependencies: ["AFURLSession", "AFNetworkingTesting"],
            swiftSettings: legacy
        ),
        // What the pages show, compiled and run; one target, so that it can be tried without the rest.
        .testTarget(
            name: "AFDocumentationTests",
            dependencies: [
                "AFImages", "AFNetworking", "AFNetworkingXML", "AFSecurity", "AFSerialization", "AFState",
                "AFURLSession",
                "AFURLTypes", "AFTLS", "AFWire", "AFNetworkingTesting", "AFTestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFVirtualWorldTests",
            dependencies: ["AFBase", "AFTestSupport", "AFVirtualWorld", "AFLoop", "AFURLSession"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "afnetTests",
            dependencies: [
                "afnet", "AFImages", "AFNetworking", "AFURLSession", "AFURLTypes", "AFNetworkingTesting",
                "AFTestSupport",
                "AFFaults",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFFuzzTests",
            dependencies: fuzzed,
            exclude: ["Driver", "Corpus"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AFInteropTests",
            dependencies: ["afnet", "AFTestSupport", "AFURLSession", "AFNetworking", "AFNetworkingTesting"],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)

// What is built for some tests only, as with a sanitizer, compiles nothing that these do not need.
if let names = Context.environment["AFNET_TESTS"]?.split(separator: " ").map(String.init) {
    // These tests run a program that they do not link.
    var unread = names + (names.contains("AFTortureTests") ? ["afnet-torture"] : [])
    var needed = Set(unread)
    while let name = unread.popLast() {
        for case .byNameItem(let other, _) in package.targets.first(where: { $0.name == name })?.dependencies ?? []
        where needed.insert(other).inserted {
            unread.append(other)
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}

// The targets of the fuzzer are compiled into one program with it, which has no main of its own and which no other
// build can link. `./dev fuzz` builds it.
if Context.environment["AFNET_FUZZ"] != nil {
    package.targets.removeAll(where: \.isTest)
    package.targets.append(
        .executableTarget(
            name: "afnet-fuzz",
            dependencies: fuzzed,
            path: "Tests/AFFuzzTests",
            exclude: ["CorpusTests.swift", "Corpus"],
            swiftSettings: strict
        )
    )
}
