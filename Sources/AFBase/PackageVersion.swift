/// The version of this package, which `afnet --version`, the default User-Agent and HAR files say. `./dev release`
/// writes this file.
package enum PackageVersion {
    package static let current = "0.1.0-dev"
}
