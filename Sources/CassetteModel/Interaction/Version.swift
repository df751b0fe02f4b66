/// The version of this package, as shown by `--version` and the `recorder` member of a cassette.
package enum Version {
    package static let current = "0.2.0"
}
