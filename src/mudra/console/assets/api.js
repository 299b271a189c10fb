// The API as pages with try-out, from the document that the service itself gives.
import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";
import "swagger-ui-dist/swagger-ui.css";

SwaggerUI({
  url: "/schema/openapi.json",
  dom_id: "#calls",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "none",
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
