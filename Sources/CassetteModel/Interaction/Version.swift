/// Of all that is built from this package, as `--version` and the `recorder` of a cassette have it.
package enum Version {
    package static let current = "0.1.0"
}
