import Testing

@testable import Wiretape

@Suite struct OfflineTransportTests {
    @Test func theRefusalNamesTheRequestAndTheWaysOut() async throws {
        let session = Session(transport: OfflineTransport())
        let error = try #require(await session.request("http://a.test/pets?n=1").serializingData().response.error)
        #expect(
            "\(error)".contains(
                "GET \"http://a.test/pets?n=…\" has no cassette, and WIRETAPE_OFFLINE forbids the network: send it from the test's task, use Session(cassette:), or unset the variable."
            ))
    }
}
