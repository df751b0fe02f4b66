import Testing

@testable import Wiretape

@Suite struct StatusCodesTests {
    @Test(arguments: [
        (Array(200..<300), "200 to 299"), ([404], "404"), ([200, 201, 404], "200 to 201 or 404"), ([500, 200, 404], "200, 404 or 500"),
        ([], "none"),
        ([-1, 99, 1000], "none"),
    ]) func setsAreToldInRanges(codes: [Int], text: String) {
        #expect(StatusCodes(codes).description == text)
    }

    @Test func aSequenceWithoutEndEnds() {
        #expect(StatusCodes(200...).contains(599))
        #expect(!StatusCodes(sequence(first: 1) { _ in 1 }).contains(200))
    }
}
