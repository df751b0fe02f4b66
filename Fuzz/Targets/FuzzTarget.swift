/// A reader of bytes from strangers, and what must hold for it whatever the bytes are.
///
/// A trap, a sanitizer's report and a `FuzzFinding` are findings.
package protocol FuzzTarget {
    /// Reads one input. Throws `FuzzFinding` if an expectation does not hold.
    static func run(_ input: UnsafeRawBufferPointer) throws
}

extension FuzzTarget {
    static func expect(_ holds: Bool, _ otherwise: @autoclosure () -> String) throws(FuzzFinding) {
        if !holds { throw FuzzFinding(otherwise()) }
    }
}

/// An expectation of a fuzz target that does not hold.
package struct FuzzFinding: Error, CustomStringConvertible {
    package var description: String

    init(_ description: String) { self.description = description }
}

/// All fuzz targets by their names on the command line.
package enum FuzzTargets {
    package static var all: [String: any FuzzTarget.Type] {
        [
            "multipart": MultipartTarget.self, "inflate": InflateTarget.self, "body": BodyTarget.self, "cassette": CassetteTarget.self,
            "message": MessageTarget.self, "hello": HelloTarget.self, "http2": HTTP2Target.self, "proto": ProtoTarget.self,
            "websocket": WebSocketTarget.self, "import": ImportTarget.self, "rules": RulesTarget.self,
            "names": NameQueryTarget.self,
        ]
    }
}
