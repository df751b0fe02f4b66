/// The version of this package, as `--version` and the `recorder` member of a cassette show it.
package enum Version {
    package static let current = "0.2.0"
}
