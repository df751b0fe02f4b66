internal import CNghttp2

/// Limits what a peer may cause that costs it little but this side much. Beyond a limit, the connection ends with
/// ENHANCE_YOUR_CALM (RFC 9113, 10.5).
///
/// The limits are those of other implementations, and far above what any client has been seen to need.
struct HTTP2Accounts {
    /// Seconds since the connection began, given by the caller.
    var elapsed = 0.0
    /// What was excessive; nil while nothing is.
    private(set) var excess: String?

    private var resetsReceived = RateLimit(burst: 1000, perSecond: 33)
    private var resetsSent = RateLimit(burst: 200, perSecond: 33)
    private var dataFrames = 0
    private var headerFrames = 0
    private var sentData = 0
    private var emptyDataInARow = 0
    /// PING, SETTINGS, PRIORITY and frames of unknown types.
    private var controlFrames = 0
    private var windowUpdates = 0

    mutating func frameBegan(type: UInt8, flags: UInt8, length: Int) {
        switch nghttp2_frame_type(UInt32(type)) {
        case NGHTTP2_DATA:
            self.dataFrames += 1
            let ends = flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
            self.emptyDataInARow = length == 0 && !ends ? self.emptyDataInARow + 1 : 0
            if self.emptyDataInARow > 10 { self.excess = "the peer sent \(self.emptyDataInARow) empty DATA frames in a row" }
        case NGHTTP2_HEADERS:
            self.headerFrames += 1
            // nghttp2 itself sends an empty DATA frame before trailers.
            self.emptyDataInARow = 0
        case NGHTTP2_CONTINUATION, NGHTTP2_GOAWAY, NGHTTP2_PUSH_PROMISE: break
        case NGHTTP2_RST_STREAM:
            if !self.resetsReceived.take(at: self.elapsed) { self.excess = "the peer reset too many streams" }
        case NGHTTP2_WINDOW_UPDATE:
            self.windowUpdates += 1
            // Envoy's rule, plus the allowance of control frames.
            if self.windowUpdates > 5 + 2 * (self.headerFrames + 10 * (self.dataFrames + self.sentData)) + 1000 {
                self.excess = "the peer sent too many WINDOW_UPDATE frames"
            }
        default:
            self.controlFrames += 1
            if self.controlFrames > 1000 + 10 * (self.dataFrames + self.headerFrames) {
                self.excess = "the peer sent too many PING, SETTINGS, PRIORITY or unknown frames"
            }
        }
    }

    mutating func dataSent() { self.sentData += 1 }

    mutating func resetSent() {
        if !self.resetsSent.take(at: self.elapsed) { self.excess = "the peer caused this side to reset too many streams" }
    }

    mutating func headerSectionIsEndless() { self.excess = "the peer sent a header section without an end" }
}

/// Allows a number of events at once, and so many more per second.
struct RateLimit {
    private let burst: Double
    private let perSecond: Double
    private var left: Double
    private var last = 0.0

    init(burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
        self.left = burst
    }

    /// - Returns: whether one more is allowed at this second.
    mutating func take(at now: Double) -> Bool {
        self.left = min(self.burst, self.left + max(0, now - self.last) * self.perSecond)
        self.last = max(self.last, now)
        guard self.left >= 1 else { return false }
        self.left -= 1
        return true
    }
}
