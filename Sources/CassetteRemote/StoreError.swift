package import TapeBytes

/// An error of a store in the network, of its cache, or of a pointer to a cassette in it.
///
/// Messages never contain credentials, and of a server's answer only its status and its error code.
package typealias StoreError = CodedError<StoreErrorCode>

/// A kind of error. More kinds may be added.
package struct StoreErrorCode: Hashable, Sendable, CustomStringConvertible {
    private enum Value { case notFound, denied, unreachable, refused, damaged, unsupported, settings, busy, unwritable, tooLarge, conflict }

    private var value: Value

    /// The object, the bucket, or the cassette is not there.
    package static var notFound: Self { Self(value: .notFound) }
    /// The server refuses these credentials, or there are none.
    package static var denied: Self { Self(value: .denied) }
    /// No connection, or none that answers in time.
    package static var unreachable: Self { Self(value: .unreachable) }
    /// Something that is never followed or accepted, such as a redirect.
    package static var refused: Self { Self(value: .refused) }
    /// Bytes that do not have the digest in their name, or an object that is not what it should be.
    package static var damaged: Self { Self(value: .damaged) }
    /// The server cannot do it.
    package static var unsupported: Self { Self(value: .unsupported) }
    /// A setting is missing or wrong.
    package static var settings: Self { Self(value: .settings) }
    /// The server is overloaded or broken, also after several tries.
    package static var busy: Self { Self(value: .busy) }
    /// A file of the cache or a pointer cannot be written.
    package static var unwritable: Self { Self(value: .unwritable) }
    /// More than a limit allows.
    package static var tooLarge: Self { Self(value: .tooLarge) }
    /// A pointer with the marks of a merge.
    package static var conflict: Self { Self(value: .conflict) }

    package var description: String { "\(self.value)" }
}
