internal import Testing

@testable internal import TapeExchange

@Suite struct MessageErrorTests {
    @Test func codesAreDistinct() {
        let codes: [MessageError.Code] = [
            .startLine, .version, .lineEnd, .field, .tooLong, .tooManyFields, .framing, .coding, .chunk, .trailer, .target, .host,
        ]
        #expect(Set(codes).count == codes.count)
    }
}
