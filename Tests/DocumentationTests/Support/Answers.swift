import Wiretape

/// The answers of the pet shop in the pages.
nonisolated enum Answers {
    static let pets = #"[{"id": 1, "name": "Miso"}, {"id": 2, "name": "보리"}]"#
    static let pet = #"{"id": 3, "name": "초코"}"#

    /// A session that gets the same answer to every request.
    static func session(_ response: StubResponse) -> HTTPSession { HTTPSession(transport: StubTransport { _ in response }) }

    /// A session of the whole shop.
    static func session(configuration: HTTPSession.Configuration = HTTPSession.Configuration()) -> HTTPSession {
        HTTPSession(
            configuration: configuration,
            transport: StubTransport { request in
                switch (request.method, request.url.path) {
                case ("GET", "/pets"): .json(self.pets)
                case ("POST", "/pets"): .json(self.pet, status: 201)
                case ("GET", "/pets/3"): .json(self.pet)
                default: .text("no such page", status: 404)
                }
            })
    }
}
