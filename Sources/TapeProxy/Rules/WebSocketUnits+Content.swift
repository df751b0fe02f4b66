internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TrafficRules

extension WebSocketUnits {
    /// What a message says, for somebody who looks at it.
    struct Content {
        /// Its body is nil if the message is compressed: later messages depend on its bytes.
        var shown: PauseDesk.Content
        var isText: Bool
        var note: String?
    }

    static var isTooLongToWait: String { "a message has more than \(Self.limit >> 20) MiB, so it does not wait" }
}

extension WebSocketUnits.Unit {
    /// Nil for a control frame, and for frames that cannot be read.
    var content: WebSocketUnits.Content? {
        guard self.isMessage else { return nil }
        var frames = self.bytes
        var payload: [UInt8] = []
        var isText = false
        var isCompressed = false
        var isFirst = true
        while let first = frames.readInteger(as: UInt8.self), let second = frames.readInteger(as: UInt8.self) {
            if isFirst { (isText, isCompressed) = (first & 0xf == 1, first & 0x40 != 0) }
            isFirst = false
            var length = Int(second & 0x7f)
            if length == 126 {
                guard let long = frames.readInteger(as: UInt16.self) else { return nil }
                length = Int(long)
            } else if length == 127 {
                guard let long = frames.readInteger(as: UInt64.self) else { return nil }
                length = Int(clamping: long)
            }
            var mask: [UInt8] = []
            if second & 0x80 != 0 {
                guard let bytes = frames.readBytes(length: 4) else { return nil }
                mask = bytes
            }
            guard let data = frames.readBytes(length: length) else { return nil }
            payload += mask.isEmpty ? data : data.enumerated().map { $1 ^ mask[$0 & 3] }
        }
        var shown = PauseDesk.Content()
        if !isCompressed { shown.body = payload }
        return WebSocketUnits.Content(
            shown: shown, isText: isText,
            note: isCompressed ? "the message is compressed (permessage-deflate), so it is not shown and goes on as it is" : nil)
    }
}

extension WebSocketUnits.Content {
    /// The frames that go on after a decision; nil if none do.
    func bytes(after decision: PauseDesk.Decision, from side: WebSocketSide, _ original: ByteBuffer) -> ByteBuffer? {
        guard let old = self.shown.body else { return original }
        switch decision {
        case .pass: return original
        case .drop: return nil
        case .change(let changed), .answer(let changed):
            guard let body = changed.body, body != old else { return original }
            var writer = WebSocketWriter(side)
            var frames: [UInt8] = []
            body.withUnsafeBytes { writer.message(self.isText, $0, to: &frames) }
            return ByteBuffer(bytes: frames)
        }
    }
}
