internal import TapeTLS

/// The look at a client's first message: once it is there as a whole, more bytes change nothing.
package enum HelloTarget: FuzzTarget {
    package static func run(_ input: UnsafeRawBufferPointer) throws {
        var isWhole = false
        let bytes = Array(input)
        for count in stride(from: 0, through: bytes.count, by: max(1, bytes.count / 64)) {
            let now = ClientHelloFrame.isWhole(bytes[..<count])
            try self.expect(now || !isWhole, "a hello that was whole is not any more")
            isWhole = now
        }
    }
}
