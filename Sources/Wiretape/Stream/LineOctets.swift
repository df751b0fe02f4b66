internal import Foundation

/// Takes the lines of a stream one by one.
struct LineOctets {
    private let seat: StreamSeat
    private var splitter = LineSplitter()
    private var lines: ArraySlice<[UInt8]> = []
    private var isOver = false

    init(_ seat: StreamSeat) { self.seat = seat }

    /// - Parameter keepsLast: whether octets behind the last line end are a line.
    mutating func next(keepsLast: Bool) async throws -> [UInt8]? {
        while self.lines.isEmpty {
            guard !self.isOver else { return nil }
            if let chunk = try await self.seat.next() {
                self.lines = try self.splitter.push(chunk)[...]
            } else {
                self.isOver = true
                if keepsLast { self.lines = self.splitter.finish().map { [$0] } ?? [] }
            }
        }
        return self.lines.popFirst()
    }
}
